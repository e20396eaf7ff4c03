--[[
Gives  pauseAfter(failures, first, longest)  pause after so many failures in a row, in milliseconds: it doubles with each, from the first to the longest
]]
local function pauseAfter(failures, first, longest)
  return math.min(tonumber(longest), first * 2 ^ (failures - 1))
end
