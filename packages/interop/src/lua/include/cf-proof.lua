--[[
Gives  isProved(filter, kept, from, count)  whether a cuckoo filter has the canaries ARGV[from] and on, `count` of them, and its set of fingerprints
                                            that have to stay
]]
--- @include "ask"
--- @include "all-found"
local function isProved(filter, kept, from, count)
  -- The set begins with its own name: one that is gone would let go what has to stay.
  if ask('SISMEMBER', kept, 'kept') ~= 1 then return false end
  return areFound(ask('CF.MEXISTS', filter, unpack(ARGV, from, from + count - 1)), count)
end
