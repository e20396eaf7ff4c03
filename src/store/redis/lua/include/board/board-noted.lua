--[[
Writes fields of a hash of reports. A key of another type was not written by this package, and is replaced.

Gives  noted(key, ...)  the error, when the fields and values could not be written
]]
--- @include "refused"
local function noted(key, ...)
  local reply = redis.pcall('HSET', key, ...)
  if type(reply) == 'table' and not isRefused(reply) then
    redis.pcall('DEL', key)
    reply = redis.pcall('HSET', key, ...)
  end
  return type(reply) == 'table' and reply.err or nil
end
