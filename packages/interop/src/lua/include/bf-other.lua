--[[
Gives  isOtherThanBf(key)  whether there is a key that is no filter of BF.* commands
]]
local function isOtherThanBf(key)
  return redis.call('EXISTS', key) == 1 and redis.pcall('BF.INFO', key).err ~= nil
end
