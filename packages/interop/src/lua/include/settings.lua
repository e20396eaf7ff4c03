--[[
Gives  hasSettings(key, first, last)  whether the hash under `key` has the values that ARGV[first] to ARGV[last] name: fields and values in turn
]]
--- @include "ask"
local function hasSettings(key, first, last)
  for i = first, last, 2 do
--safety:settings
    if ask('HGET', key, ARGV[i]) ~= ARGV[i + 1] then return false end
--end
  end
  return true
end
