--[[
Gives  isProved(key, proof)  whether a string is the one of a proof: its length, its canaries, and the bytes with which it begins
]]
--- @include "bitmap-canaries"
--- @include "bitmap-head"
local function isProved(key, proof)
  local _, _, head = partsOf(proof)
  return hasCanaries(key, proof) and beginsWith(key, head)
end
