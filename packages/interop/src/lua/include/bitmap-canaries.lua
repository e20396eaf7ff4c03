--[[
Gives  hasCanaries(key, proof)  whether a string has the length and the canaries of a proof
]]
--- @include "ask"
--- @include "bitmap-proof"
local function hasCanaries(key, proof)
  local length, canaries = partsOf(proof)
  if ask('STRLEN', key) ~= length then return false end
  for i = 1, canaries do
    local at = canaryOf(proof, i)
    if redis.call('GETRANGE', key, at, at) ~= '\255' then return false end
  end
  return true
end
