--[[
Gives  timeOfMode(record)  milliseconds in a record of the mode of all processes, 'time mode by'; nil for anything else
]]
local function timeOfMode(record)
  if type(record) ~= 'string' then return nil end
  local time = string.match(record, '^(%d+) [%w-]+ ')
  return time and tonumber(time)
end
