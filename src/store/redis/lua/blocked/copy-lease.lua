--[[
Grants a reader a lease, or renews it. From the first one on, the metadata say that adds have to wait for readers.

KEYS[1]  meta
KEYS[2]  readers
KEYS[3]  feed
KEYS[4]  channel of acknowledgements
ARGV[1]  tag of the live generation as meta holds it, as far as the caller knows
ARGV[2]  run id of the server as the caller knows it
ARGV[3]  reader; one that joins has never used this name before
ARGV[4]  length of the lease, in milliseconds
ARGV[5]  list on which the reader is, '' for one that joins
ARGV[6]  the last entry that the reader has applied, or, if it joins, the name that it had before, '' for none
ARGV[7]  name of a new list, if one has to begin
ARGV[8]  format of a filter that is read with leases
ARGV[9]  number that the reader has acknowledged a while ago, 0 for one that joins

Reply: 'STALE'  the generation or the server is another one than the caller knows, or nothing is live
       'RUN'    the server does not say which run it is, so nobody would notice that its list is that of another one
       'GAP'    what the reader has is not of this list, or it has not applied what is gone from the feed; it has to join
       { list, number of the last entry, tag, tag of the staging that is announced, '' for none, 'LOST' when that number has not
         come, '' otherwise }
]]
--- @include "copy-tag"
--- @include "copy-list"
--- @include "copy-expired"
--- @include "copy-tell"
--- @include "copy-cap"
--- @include "run-id"
--- @include "copy-announced"
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'STALE' end
local tag = redis.call('HGET', KEYS[1], 'tag') or ''
if tag ~= ARGV[1] or plainTag(tag) == '' then return 'STALE' end
local run = serverRunId()
if run == '' then return 'RUN' end
if run ~= ARGV[2] then return 'STALE' end

local reader, ms = ARGV[3], tonumber(ARGV[4])
local copies = copiesAt(KEYS[1], KEYS[2], KEYS[3], ARGV[7])
if not isLeased(tag) then
  redis.call('HSET', KEYS[1], 'tag', 'L' .. tag)
  -- Format 5 is that of filters with and without leases.
  if redis.call('HGET', KEYS[1], 'format') ~= '5' then redis.call('HSET', KEYS[1], 'format', ARGV[8]) end
end
if ms > copies.ms or not copies.knowsLength then
  copies.ms = ms
  redis.call('HSET', KEYS[1], 'leases.ms', ARGV[4])
end
-- The clock of the server was set back.
if copies.ends > copies.now + copies.ms then copies.ends = copies.now + copies.ms end
if copies.list == '' and redis.call('HGET', KEYS[1], 'runId') == run then
  -- What is live was built on this server: whoever swapped it in has waited for leases that others had given.
  copies.lostUntil = math.max(copies.lostUntil, copies.ends)
  beginList(copies, run)
end
settleServer(copies, run)
if copies.ends <= copies.now and not redis.call('ZSCORE', KEYS[2], '#' .. copies.list) then beginList(copies, run) end
settleList(copies)
local before, isLost = leastOf(copies), false

if ARGV[5] == '' then
  if ARGV[6] ~= '' then redis.call('ZREM', KEYS[2], 'e:' .. ARGV[6], 'a:' .. ARGV[6]) end
  redis.call('ZADD', KEYS[2], copies.last, 'a:' .. reader)
else
  if ARGV[5] ~= copies.list then return 'GAP' end
  local applied = tonumber(ARGV[6])
  local next = string.format('%d-0', applied + 1)
  -- The reader stays on the list: it believes in its copy until this reply reaches it.
  if applied > copies.last or (applied < copies.last and #redis.call('XRANGE', KEYS[3], next, next) == 0) then return 'GAP' end
  local acknowledged = redis.call('ZSCORE', KEYS[2], 'a:' .. reader)
  isLost = acknowledged and tonumber(acknowledged) < tonumber(ARGV[9])
  if isLost or not acknowledged then redis.call('ZADD', KEYS[2], applied, 'a:' .. reader) end
end
capLeases(copies)
local ends = string.format('%d', copies.now + ms)
redis.call('ZADD', KEYS[2], ends, 'e:' .. reader)
redis.call('HSET', KEYS[1], 'leases.until', string.format('%d', math.max(copies.ends, copies.now + ms)))
for i = 2, 3 do
  redis.call('PEXPIRE', KEYS[i], 60000 + copies.ms)
end
dropExpired(copies)
tellAdders(copies, KEYS[4], before)
return { copies.list, copies.last, plainTag(tag), announcedTag(KEYS[1]) or '', isLost and 'LOST' or '' }
