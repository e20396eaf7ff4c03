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
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
if redis.call('EXISTS', KEYS[2], KEYS[3]) ~= 2 then return 'LENGTH' end
for i = 3, #ARGV, 2 do
  if redis.call('CF.COUNT', KEYS[2], ARGV[i]) < 4 then
    local reply = redis.pcall('CF.INSERT', KEYS[2], 'NOCREATE', 'ITEMS', ARGV[i])
    if reply[1] == -1 or reply.err and string.find(reply.err, 'Maximum expansions', 1, true) then return 'FULL' end
    if reply.err then return string.find(reply.err, 'WRONGTYPE', 1, true) and 'LENGTH' or reply end
    if reply[1] ~= 1 then
      return type(reply[1]) == 'table' and reply[1] or redis.error_reply('ERR CF.INSERT did not add the id')
    end
  else
    redis.call('SADD', KEYS[3], ARGV[i + 1])
  end
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 'OK'
