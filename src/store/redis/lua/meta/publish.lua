--[[
Makes a staged generation known, so that from now on every add made through this library is written to it too.

KEYS[1]   meta
KEYS[2]   lease
ARGV[1]   token of the lease
ARGV[2]   run id of the server that the caller staged on, '' when it may not be asked
ARGV[3]   format that meta must have, or several with spaces between them
ARGV[4]   application that publishes, '' for none; it claims a filter that nobody has claimed. Without one, a claimed filter is refused
ARGV[5]   '1': meta is made when there is none
ARGV[6..] fields and values of the staged generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing, or is no hash
       'FORMAT'  meta has another format
       'SERVER'  this is another server, or it restarted
       'OWNER'   the filter belongs to another application
       'OK'
]]
--- @include "lease"
--- @include "make-meta"
--- @include "owner"
--- @include "server"
if not holdsLease(KEYS[2], ARGV[1]) then return 'LEASE' end
local hasMeta
if ARGV[5] == '1' then
  hasMeta = makeMeta(KEYS[1], ARGV[3])
else
  hasMeta = redis.call('TYPE', KEYS[1]).ok == 'hash'
end
if not hasMeta then return 'NOMETA' end
local format = redis.call('HGET', KEYS[1], 'format') or ''
if not string.find(' ' .. ARGV[3] .. ' ', ' ' .. format .. ' ', 1, true) then return 'FORMAT' end
if isOtherServer(ARGV[2]) then return 'SERVER' end
local owner = claimFor(KEYS[1], ARGV[4])
--safety:owner
if owner ~= ARGV[4] then return 'OWNER' end
--end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
return 'OK'
