--[[
Gives  withoutOldest(key, most)  removes fields of a hash whose values begin with a time, the oldest first, until no more than so many are left
]]
local function withoutOldest(key, most)
  local all = redis.pcall('HGETALL', key)
  if all.err or #all <= 2 * most then return end
  local times = {}
  for i = 1, #all, 2 do
    times[#times + 1] = { tonumber(string.match(all[i + 1], '^%d+') or '') or 0, all[i] }
  end
  table.sort(times, function(one, other)
    if one[1] ~= other[1] then return one[1] < other[1] end
    return one[2] < other[2]
  end)
  for i = 1, #times - most do
    redis.pcall('HDEL', key, times[i][2])
  end
end
