--[[
Gives  retire(key, to, life)  moves a key out of the way, to a name that expires after `life` milliseconds; whether there was one
]]
--part:retire
local function retire(key, to, life)
  if redis.call('EXISTS', key) == 0 then return false end
  redis.call('RENAME', key, to)
  redis.call('PEXPIRE', to, life)
  return true
end
--end
