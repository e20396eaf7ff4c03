--[[
Gives  publishAcknowledged(acks, list, number)  says on the channel of this name that all readers of a list have acknowledged the entries up to a number
]]
local function publishAcknowledged(acks, list, number)
  -- Replicas do not pass it on: who hears it knows by that which server says so.
  redis.set_repl(redis.REPL_NONE)
  redis.pcall('PUBLISH', acks, list .. ' ' .. number)
  redis.set_repl(redis.REPL_ALL)
end
