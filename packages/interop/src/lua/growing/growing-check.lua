--[[
Reads the blocks of several ids in every layer of a filter that grows.

KEYS[1]    meta
KEYS[2..]  the segments that the records name
ARGV[1]    field of meta that names the generation: token or pending.token
ARGV[2]    its value as the caller knows it; every further layer changes it
ARGV[3]    records of 4 bytes, one for each id and layer, big-endian: index into KEYS from 1 (2), block within the segment (2)

Reply: 'STALE' when meta holds another value, else for each record its block of 256 bytes; something else for one that is not
       there whole
]]
--- @include "ask"
if ask('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'STALE' end
local records, keys, byte, read = ARGV[3], KEYS, string.byte, redis.pcall
local blocks, n = {}, 0
for at = 1, #records, 4 do
  local keyHigh, keyLow, blockHigh, blockLow = byte(records, at, at + 3)
  local from = (blockHigh * 256 + blockLow) * 256
  n = n + 1
  local block = read('GETRANGE', keys[keyHigh * 256 + keyLow], from, from + 255)
  if isRefused(block) then return block end
  blocks[n] = block
end
return blocks
