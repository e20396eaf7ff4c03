--[[
Gives  capLeases(copies)  shortens leases that end later than one that is granted now: the clock of the server was set back
]]
local function capLeases(copies)
  local longest = string.format('%d', copies.now + copies.ms)
  for _, member in ipairs(redis.pcall('ZRANGEBYSCORE', copies.readers, '(' .. longest, '(+inf')) do
    redis.pcall('ZADD', copies.readers, longest, member)
  end
end
