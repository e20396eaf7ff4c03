--[[
Reads the blocks of several ids.

KEYS     the segments that the records name
ARGV[1]  records of 4 bytes, one for each id, big-endian: index into KEYS from 1 (2), block within the segment (2)

Reply: for each record its block of 256 bytes; something else for one that is not there whole
]]
local records, keys, byte, read = ARGV[1], KEYS, string.byte, redis.pcall
local blocks, n = {}, 0
for at = 1, #records, 4 do
  local keyHigh, keyLow, blockHigh, blockLow = byte(records, at, at + 3)
  local from = (blockHigh * 256 + blockLow) * 256
  n = n + 1
  -- Joined to one string they would cost the server twice as much.
  blocks[n] = read('GETRANGE', keys[keyHigh * 256 + keyLow], from, from + 255)
end
return blocks
