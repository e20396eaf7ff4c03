--[[
A filter belongs to the application that claims it first.

Gives  claimFor(meta, application)  the application that a filter belongs to now, '' for none; and whether this call has claimed it. The application ''
                                    claims nothing
]]
local function claimFor(meta, application)
  local owner = redis.call('HGET', meta, 'owner') or ''
  if owner ~= '' or application == '' then return owner, false end
  redis.call('HSET', meta, 'owner', application)
  return application, true
end
