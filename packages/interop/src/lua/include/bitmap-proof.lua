--[[
A proof of a string of bits: its length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian; then the bytes with which
the string begins.

Gives  partsOf(proof)      length, number of canaries, the bytes with which the string begins
       canaryOf(proof, i)  byte offset of a canary, from 1, as a text
]]
local function partsOf(proof)
  local length, canaries = struct.unpack('>I4B', proof)
  return length, canaries, string.sub(proof, 6 + 4 * canaries)
end

local function canaryOf(proof, i)
  return string.format('%d', (struct.unpack('>I4', proof, 2 + 4 * i)))
end
