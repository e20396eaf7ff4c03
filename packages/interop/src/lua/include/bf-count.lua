--[[
Gives  itemsIn(filter)  how many ids a filter holds; nil where the server does not say
]]
--- @include "named-values"
local function itemsIn(filter)
  return tonumber(namedValues(redis.pcall('BF.INFO', filter))['Number of items inserted'])
end
