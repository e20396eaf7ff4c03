--[[
Gives  insertItems(filter, id, …)  the reply of BF.INSERT, which never makes a filter
]]
local function insertItems(filter, ...)
  return redis.pcall('BF.INSERT', filter, 'NOCREATE', 'ITEMS', ...)
end
