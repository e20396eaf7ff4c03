--[[
Gives  acknowledgedBy(copies, least)  the number of the last entry for which nobody has to wait: without a reader, of the last one that was written
]]
local function acknowledgedBy(copies, least)
  return string.format('%d', least or tonumber(redis.call('HGET', copies.meta, 'leases.last') or 0) or 0)
end
