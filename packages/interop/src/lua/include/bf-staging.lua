--[[
Gives  refusalOf(reply, filter)  what a step of a rebuild replies to an error of the staged filter: 'LENGTH' when it is not there, else the error;
                                 nil when there was none
]]
local function refusalOf(reply, filter)
  if not reply.err then return nil end
  return redis.call('EXISTS', filter) == 0 and 'LENGTH' or reply
end
