--[[
Gives  forgetLive(meta)  removes every field that names or proves the live generation
]]
local function forgetLive(meta)
  redis.call('HDEL', meta, 'token', 'settings', 'canaries', 'sum', 'runId', 'recent', 'written')
end
