--[[
Gives  dropExpired(copies)  takes readers off the list whose leases are over; whether there was one
]]
local function dropExpired(copies)
  local expired = redis.pcall('ZRANGEBYSCORE', copies.readers, 1e12, string.format('%d', copies.now))
  for _, member in ipairs(expired) do
    redis.pcall('ZREM', copies.readers, member, 'a:' .. string.sub(member, 3))
  end
  return #expired > 0
end
