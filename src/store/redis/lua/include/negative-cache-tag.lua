--[[
Gives  tagOf(name)  tag of a table of the negative cache: its name begins with it
]]
local function tagOf(name)
  return tonumber(string.sub(name, 1, 8), 16)
end
