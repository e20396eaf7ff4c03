--[[
Gives  lengthen(key, length)  fills a string up with zeros to so many bytes
       mark(key, proof)       lengthens a string to what a proof says, and sets its canaries
]]
--- @include "bitmap-proof"
local function lengthen(key, length)
  if redis.call('STRLEN', key) < length then redis.call('SETRANGE', key, string.format('%d', length - 1), '\0') end
end

local function mark(key, proof)
  local length, canaries = partsOf(proof)
  lengthen(key, length)
  for i = 1, canaries do
    redis.call('SETRANGE', key, canaryOf(proof, i), '\255')
  end
end
