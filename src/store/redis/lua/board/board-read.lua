--[[
Reads what processes have reported, but for the reports themselves, which are keys of their own.

KEYS[1]  meta
KEYS[2]  instances
KEYS[3]  mode of all processes
KEYS[4]  the running rebuild
KEYS[5]  rebuilds that have ended
ARGV[1]  application of the caller, '' for none

Reply: { 'OWNER' }                                      the filter belongs to another application
       { 'OK', time, instances, mode, running, runs }   time of the server; names of processes and their values; record of the mode and report of
                                                        the running rebuild, '' for none; names of rebuilds and their values
]]
--- @include "board-owner"
--- @include "board-mode-time"
--- @include "now"
if isOfOthers(KEYS[1], ARGV[1]) then return { 'OWNER' } end
local function all(key)
  local reply = redis.pcall('HGETALL', key)
  return reply.err and {} or reply
end
local mode, running = redis.pcall('GET', KEYS[3]), redis.pcall('HGET', KEYS[4], 'text')
return {
  'OK',
  string.format('%.0f', now()),
  all(KEYS[2]),
  timeOfMode(mode) and mode or '',
  type(running) == 'string' and running or '',
  all(KEYS[5]),
}
