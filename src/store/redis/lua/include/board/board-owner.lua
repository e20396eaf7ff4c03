--[[
Gives  isOfOthers(meta, application)  whether the filter belongs to another application; one without a name, '', does not ask
]]
local function isOfOthers(meta, application)
  if application == '' then return false end
  local owner = redis.pcall('HGET', meta, 'owner')
  return type(owner) == 'string' and owner ~= '' and owner ~= application
end
