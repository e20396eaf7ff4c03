--[[
Takes a filter on a key of others out of service. The key itself is theirs and stays.

KEYS[1]  meta
ARGV[1]  token that meta must hold now, '' for none
ARGV[2]  state to set
ARGV[3]  format to write
ARGV[4]  '1': meta makes no sense and is written again
ARGV[5]  builds that the caller knows of: a process that knew nothing of the filter made fewer

Reply: 'STALE' when meta holds another token, or has none since the filter is offline already, else 'OK'
]]
--- @include "offline"
--- @include "forget-live"
if isOtherNow('token') then return 'STALE' end
takeOffline(ARGV[2], forgetLive)
return 'OK'
