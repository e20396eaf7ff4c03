--[[
Begins a swap.

Needs  KEYS[1]  meta
       KEYS[2]  lease
       ARGV[1]  token of the lease
       ARGV[2]  token of the staging
       ARGV[3]  run id of the server that was staged on, '' when it may not be asked
       ARGV[4]  what names the live generation, '' for none
Gives  stagedContents       what the staged generation holds, '' where meta does not say
       beginSwap(field, …)  why the swap is refused; else nil, and the values of the fields 'pending.token', `field`, which names the live
                            generation, and the further ones
]]
--- @include "lease"
--- @include "server"
local stagedContents = ''
local function beginSwap(field, ...)
  if not holdsLease(KEYS[2], ARGV[1]) then return 'LEASE' end
  if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
  local known = redis.call('HMGET', KEYS[1], 'pending.token', field, ...)
--safety:staging-token
  if known[1] ~= ARGV[2] then return 'STALE' end
--end
--safety:live-token
  if (known[2] or '') ~= ARGV[4] then return 'STALE' end
--end
  if isOtherServer(ARGV[3]) then return 'SERVER' end
  stagedContents = redis.call('HGET', KEYS[1], 'pending.contents') or ''
  return nil, known
end
