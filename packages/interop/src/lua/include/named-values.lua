--[[
Gives  namedValues(info)  the reply of BF.INFO or CF.INFO as a table by names; empty for an error
]]
local function namedValues(info)
  local values = {}
  for i = 1, #info, 2 do
    values[type(info[i]) == 'table' and info[i].ok or info[i]] = info[i + 1]
  end
  return values
end
