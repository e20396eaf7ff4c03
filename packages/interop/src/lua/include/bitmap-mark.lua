--[[
Gives  mark(key, proof)  fills a string up with zeros to the length that a proof says, and sets its canaries
]]
--- @include "bitmap-proof"
local function mark(key, proof)
  local length, canaries = partsOf(proof)
  if redis.call('STRLEN', key) < length then redis.call('SETRANGE', key, string.format('%d', length - 1), '\0') end
  for i = 1, canaries do
    redis.call('SETRANGE', key, canaryOf(proof, i), '\255')
  end
end
