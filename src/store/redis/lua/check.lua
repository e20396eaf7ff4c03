--[[
Reads the blocks of several ids.

KEYS     the segments that the records name
ARGV[1]  records of 4 bytes, one for each id, big-endian: index into KEYS from 1 (2), block within the segment (2)

Reply: the blocks of 256 bytes, joined; 256 zero bytes for one that is not there whole
]]
local missing = string.rep('\0', 256)
local blocks = {}
for at = 1, #ARGV[1], 4 do
  local keyHigh, keyLow, blockHigh, blockLow = string.byte(ARGV[1], at, at + 3)
  local from = (blockHigh * 256 + blockLow) * 256
  local block = redis.pcall('GETRANGE', KEYS[keyHigh * 256 + keyLow], from, from + 255)
  blocks[#blocks + 1] = type(block) == 'string' and #block == 256 and block or missing
end
return table.concat(blocks)
