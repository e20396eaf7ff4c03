--[[
Withdraws a staged generation: from now on adds are no longer written to it.

KEYS[1]  meta
ARGV[1]  token of the staging

Reply: 'OK'
]]
--- @include "ask"
--- @include "forget-staging"
if ask('HGET', KEYS[1], 'pending.token') == ARGV[1] then forgetStaging(KEYS[1]) end
return 'OK'
