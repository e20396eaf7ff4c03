--[[
Reads what processes report.

KEYS[i]  report of a process

Reply: the report of each, '' for none
]]
local reports = {}
for i, key in ipairs(KEYS) do
  local report = redis.pcall('GET', key)
  reports[i] = type(report) == 'string' and report or ''
end
return reports
