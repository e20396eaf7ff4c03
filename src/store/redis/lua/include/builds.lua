--[[
Gives  buildsOf(meta)  how many builds of the filter went live; 0 for what was edited to nonsense
]]
local function buildsOf(meta)
  local builds = tonumber(redis.call('HGET', meta, 'builds') or 0) or 0
  return builds >= 0 and builds <= 1e14 and builds or 0
end
