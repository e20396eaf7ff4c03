--[[
Removes keys that a rebuild has left behind, when that could not be done at once. A key without a life is left alone: it went live.

KEYS  what to remove

Reply: how many were removed
]]
local removed = 0
for _, key in ipairs(KEYS) do
  local life = redis.pcall('PTTL', key)
  if type(life) == 'number' and life > 0 then removed = removed + redis.call('UNLINK', key) end
end
return removed
