--[[
Withdraws a staged generation: from now on adds are no longer written to it.

KEYS[1]  meta
ARGV[1]  token of the staging

Reply: 'OK'
]]
if redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HGET', KEYS[1], 'pending.token') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'pending.token', 'pending.settings', 'pending.canaries', 'pending.sum', 'pending.count')
end
return 'OK'
