--[[
The one rule for what a command on a key answers: a key of another type holds nothing, and every other error of the server is for the caller.

Gives  isRefused(reply)  whether a reply of redis.pcall is an error other than that the key has another type
]]
local function isRefused(reply)
  return type(reply) == 'table' and reply.err and not string.find(reply.err, 'WRONGTYPE', 1, true)
end
