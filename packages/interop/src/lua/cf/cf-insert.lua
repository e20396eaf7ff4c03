--[[
Adds ids that a build has read to the staged cuckoo filter. One that seems to be there four times already, as a source may return it more
than once, gets no further fingerprint: what it relies on is noted among those that have to stay.

KEYS[1]   lease
KEYS[2]   the filter
KEYS[3]   the set of the fingerprints that have to stay in it
ARGV[1]   token of the lease
ARGV[2]   life of the filter, in milliseconds
ARGV[3..] for each id: the id, and the name of its fingerprint

Reply: 'LEASE'   the lease is not the caller's
       'LENGTH'  the filter is not there, or the set
       'FULL'    it is full
       the error of the filter, if it refused an id for another reason
       'OK'
]]
--- @include "lease"
--- @include "cf-insert-id"
--- @include "refused"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
if redis.call('EXISTS', KEYS[2], KEYS[3]) ~= 2 then return 'LENGTH' end
for i = 3, #ARGV, 2 do
  if redis.call('CF.COUNT', KEYS[2], ARGV[i]) < 4 then
    local refusal = insertId(KEYS[2], ARGV[i])
    if refusal == 'FULL' or isRefused(refusal) then return refusal end
    if refusal then return 'LENGTH' end
  else
    redis.call('SADD', KEYS[3], ARGV[i + 1])
  end
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 'OK'
