--[[
Gives  makeMeta(meta, format)  makes the metadata of an unbuilt filter when there are none; whether there are metadata then
]]
local function makeMeta(meta, format)
  local kind = redis.call('TYPE', meta).ok
  if kind == 'none' then redis.call('HSET', meta, 'format', format, 'state', 'unbuilt') end
  return kind == 'none' or kind == 'hash'
end
