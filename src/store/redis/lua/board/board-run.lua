--[[
Keeps the record of a rebuild that has ended, once.

KEYS[1]  the running rebuild
KEYS[2]  rebuilds that have ended: for each 'when it was noted, record'
ARGV[1]  name of the rebuild
ARGV[2]  its record
ARGV[3]  records that are kept
ARGV[4]  life of the records, in milliseconds

Reply: 'OK'
]]
--- @include "board-noted"
--- @include "board-oldest"
--- @include "now"
if type(redis.pcall('HGET', KEYS[2], ARGV[1])) ~= 'string' then
  local failed = noted(KEYS[2], ARGV[1], string.format('%.0f ', now()) .. ARGV[2])
  if failed then return redis.error_reply(failed) end
end
withoutOldest(KEYS[2], tonumber(ARGV[3]))
redis.pcall('PEXPIRE', KEYS[2], ARGV[4])
if redis.pcall('HGET', KEYS[1], 'run') == ARGV[1] then redis.pcall('DEL', KEYS[1]) end
return 'OK'
