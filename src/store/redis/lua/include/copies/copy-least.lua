--[[
Gives  leastOf(copies)  the lowest number up to which a reader has acknowledged; nil when there is no reader
]]
local function leastOf(copies)
  local first = redis.pcall('ZRANGE', copies.readers, 0, 0, 'WITHSCORES')
  local least = tonumber(first[2] or '')
  return least and least < 1e12 and least or nil
end
