--[[
Says how far a filter has come with the rows that others write, and which process follows these writers: the one that asks first, until its time is over.

KEYS[1]  meta
KEYS[2]  outside: how far the filter has come
KEYS[3]  name of the process that follows, with a life
ARGV[1]  application of the caller, '' for none
ARGV[2]  name of the process
ARGV[3]  how long it follows unless it asks again, in milliseconds; 0 gives up what it holds

Reply: { 'OWNER' }                                               the filter belongs to another application
       { holds, mark, newest, position, gaps, doubt, at, time }  whether the process follows, '1' or '0'; the entries, '' for none; when one was noted and
                                                                 the time of the server, in milliseconds, '' where it is not known
]]
--- @include "board-owner"
--- @include "now"
if isOfOthers(KEYS[1], ARGV[1]) then return { 'OWNER' } end
local holder = redis.pcall('GET', KEYS[3])
local holds = holder == ARGV[2]
if ARGV[3] == '0' then
  if holds then redis.call('DEL', KEYS[3]) end
  holds = false
elseif holds then
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
elseif type(holder) ~= 'string' or redis.call('PTTL', KEYS[3]) == -1 then
  -- A key of another type, or without a life, was not written by this package.
  redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
  holds = true
end
local found = redis.pcall('HMGET', KEYS[2], 'mark', 'newest', 'position', 'gaps', 'doubt', 'at')
if found.err then found = {} end
local reply = { holds and '1' or '0' }
for i = 1, 6 do
  reply[i + 1] = found[i] or ''
end
reply[8] = string.format('%.0f', now())
return reply
