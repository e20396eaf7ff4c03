--[[
Removes the live string that a staging made, if nothing was added to it: peers read a missing one in the same way.

KEYS[1]  lease
KEYS[2]  meta
KEYS[3]  the live string
ARGV[1]  token of the lease
ARGV[2]  proof of the staged string: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian

Reply: 'LEASE' when the lease is not the caller's, else 'OK'
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
if redis.call('TYPE', KEYS[2]).ok == 'hash' and redis.call('HGET', KEYS[2], 'token') then return 'OK' end
local live = KEYS[3]
if redis.call('TYPE', live).ok ~= 'string' then return 'OK' end
local length, count = struct.unpack('>I4B', ARGV[2])
if redis.call('STRLEN', live) ~= length or redis.call('BITCOUNT', live) ~= 8 * count then return 'OK' end
for i = 1, count do
  local place = string.format('%d', (struct.unpack('>I4', ARGV[2], 2 + 4 * i)))
  if redis.call('GETRANGE', live, place, place) ~= '\255' then return 'OK' end
end
redis.call('UNLINK', live)
return 'OK'
