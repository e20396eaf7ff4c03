--[[
Reports a process that has the filter, and its rebuild if it makes one. Returns what the process has to hear, also where the server takes no writes.

KEYS[1]   meta
KEYS[2]   instances: for each process 'when it was seen last, until when it is believed'
KEYS[3]   what this process reports
KEYS[4]   mode of all processes
KEYS[5]   the running rebuild
KEYS[6]   rebuilds that have ended
ARGV[1]   application of the caller, '' for none
ARGV[2]   name of the process
ARGV[3]   what it reports; '' when that is what it reported last
ARGV[4]   how long that is believed, in milliseconds
ARGV[5]   longest time that any process is believed
ARGV[6]   processes that are kept at most, on a beat that also removes those that have gone; else ''
ARGV[7]   last record of the mode that the process has heard, '' for none
ARGV[8]   the rebuild of the process, '' for none
ARGV[9]   what it reports of it
ARGV[10]  how long that is believed

Reply: { 'OWNER' }                          the filter belongs to another application
       { 'OK', mode, stop, error }          record of the mode and who stops the rebuild, '' for none; why a write failed, '' when none did
       { 'TEXT', mode, stop, error }        the same, and the process has to report everything
]]
--- @include "board-owner"
--- @include "board-mode-time"
--- @include "board-noted"
--- @include "board-oldest"
--- @include "now"
if isOfOthers(KEYS[1], ARGV[1]) then return { 'OWNER' } end
local time = now()
local failed, outcome = '', 'OK'
local function try(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then failed = reply.err end
  return reply
end

if ARGV[3] ~= '' then
  try('SET', KEYS[3], ARGV[3], 'PX', ARGV[4])
elseif try('PEXPIRE', KEYS[3], ARGV[4]) == 0 then
  outcome = 'TEXT'
end
failed = noted(KEYS[2], ARGV[2], string.format('%.0f %.0f', time, time + ARGV[4])) or failed
try('PEXPIRE', KEYS[2], ARGV[5])
if ARGV[6] ~= '' then
  local all = redis.pcall('HGETALL', KEYS[2])
  for i = 1, all.err and 0 or #all, 2 do
    local ends = tonumber(string.match(all[i + 1], '^%d+ (%d+)$') or '') or 0
    -- One of a time that is too far was noted before the clock was set back.
    if ends < time or ends > time + ARGV[5] then redis.pcall('HDEL', KEYS[2], all[i]) end
  end
  withoutOldest(KEYS[2], tonumber(ARGV[6]))
end

-- A server that restarted empty, or a replica that took over, may lack a record that processes have heard.
local mode = redis.pcall('GET', KEYS[4])
local stored, heard = timeOfMode(mode), timeOfMode(ARGV[7])
if heard and (not stored or stored < heard) then
  mode = ARGV[7]
  try('SET', KEYS[4], mode)
end

local stop = ''
-- A beat that arrives after the record of its rebuild reports what has ended.
if ARGV[8] ~= '' and type(redis.pcall('HGET', KEYS[6], ARGV[8])) ~= 'string' then
  if redis.pcall('HGET', KEYS[5], 'run') ~= ARGV[8] then redis.pcall('DEL', KEYS[5]) end
  failed = noted(KEYS[5], 'run', ARGV[8], 'text', ARGV[9]) or failed
  try('PEXPIRE', KEYS[5], ARGV[10])
  stop = redis.pcall('HGET', KEYS[5], 'stop')
end
return { outcome, timeOfMode(mode) and mode or '', type(stop) == 'string' and stop or '', failed }
