--[[
Gives  areFound(found, count)  whether the first `count` answers of BF.MEXISTS or CF.MEXISTS are 1; false for an error
]]
local function areFound(found, count)
  if found.err then return false end
  for i = 1, count do
    if found[i] ~= 1 then return false end
  end
  return true
end
