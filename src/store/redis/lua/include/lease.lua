--[[
Gives  holdsLease(key, token)  whether the lease under this key is still the one that the caller shows
]]
local function holdsLease(key, token)
--safety:lease
  if redis.call('GET', key) ~= token then return false end
--end
  return true
end
