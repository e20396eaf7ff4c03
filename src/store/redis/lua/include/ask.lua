--[[
Gives  ask(command, …)  the reply of a command that reads; for a key of another type a table with `err`, which equals no value and has no
                        elements. Every other error is raised.
]]
--- @include "refused"
local function ask(...)
  local reply = redis.pcall(...)
  -- Raised by the command itself, so that the error names it. The look at the type saves a call of a function
  -- for most replies.
  if type(reply) == 'table' and isRefused(reply) then redis.call(...) end
  return reply
end
