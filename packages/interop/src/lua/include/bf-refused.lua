--[[
Gives  hasRefused(reply)  whether an id of a BF.INSERT was refused, for lack of room
]]
local function hasRefused(reply)
  for i = 1, #reply do
    if type(reply[i]) == 'table' then return true end
  end
  return false
end
