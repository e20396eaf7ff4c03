--[[
Gives  isOfFewerBits(key, found, length)  whether a string of `found` bytes is a whole filter that is smaller than `length` bytes, and not the first
                                          part of one of that size
]]
local function isOfFewerBits(key, found, length)
  if found == 0 or found >= length then return false end
  -- Bits are spread evenly: so many of them are all in the first part of a filter with a chance of less than
  -- e^-28.
  return redis.call('BITCOUNT', key, 0, 262143) * math.log(found / length) < -28
end
