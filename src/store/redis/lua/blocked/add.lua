--[[
Sets the bits of ids in the live generation and in the staged one.

KEYS[1]    meta
KEYS[2..]  the segments that the records name, live and staged
ARGV[1]    tag of the live generation as meta holds it, as far as the caller knows; '' for none
ARGV[2]    tag of the staged generation as the caller knows it, '' for none
ARGV[3]    live records, one for each id: index into KEYS from 1 (2 bytes, big-endian); the first and the last byte of the block
           within the segment as GETRANGE takes them, each its length (1) and decimal text; number of masks (1); for each mask,
           ascending, a byte of the block (1) and its bits to set (1)
ARGV[4]    staged records, in the same form
where meta names a table of the negative cache, which is the last key then:
ARGV[5]    name of the table as the caller knows it
ARGV[6]    life of a mark, in milliseconds
ARGV[7]    bucket of each id in the table, big-endian (4)
where the filter is read with leases; before the table, readers and feed are the last keys then, and ARGV[5] is '' without a table:
ARGV[8]    run id of the server as the caller knows it, '' when it may not be asked
ARGV[9]    block (4) and seed (4) of each id in the live generation, little-endian
ARGV[10]   name of a new list of readers, if one has to begin
ARGV[11]   the caller's own reader, whose copy has the ids already, '' for none
ARGV[12]   as ARGV[9], in the staged generation, '' for none

Reply: 'NOMETA'  meta is missing; nothing was set
       'STALE'   the generations or the table are others than the caller knows; nothing was set
       'LOST'    a live block is not there, or is not of this generation
       { flags, count } a character for each id: '1' when it was not there before; how many ids the live generation holds, unless that
                 is as before; where the filter is read with leases, with what waitFor() gives, and number and list of the last entry
]]
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
local tables = #(ARGV[5] or '') > 0 and 1 or 0
local tag, known, copies = ARGV[1], nil, nil
if string.byte(tag) == 76 then
  --- @include "copy-tag"
  --- @include "copy-wait"
  --- @include "run-id"
  --- @include "copy-announced"
  tag = plainTag(tag)
  -- In one call: each takes the server a tenth of such an add.
  known = redis.call('HMGET', KEYS[1], 'tag', 'pending.tag', 'denials', unpack(COPY_FIELDS))
  copies = copiesAt(KEYS[1], KEYS[#KEYS - 1 - tables], KEYS[#KEYS - tables], ARGV[10], { unpack(known, 4) })
  copies.writeEntry, copies.waitFor, copies.announcedTag = writeEntry, waitFor, announcedTag
  function copies:settle()
    -- Asked only where it matters: the answer is a text of a kilobyte.
    local run = self.run == ARGV[8] and self.run or serverRunId()
    if run ~= '' and run == self.run and run ~= ARGV[8] and ARGV[8] ~= '' then return 'STALE' end
    settleServer(self, run)
    settleList(self)
  end
end
known = known or redis.call('HMGET', KEYS[1], 'tag', 'pending.tag', 'denials')
--- @include "add-head"
--safety:denial-table
if (known[3] or '') ~= (ARGV[5] or '') then return 'STALE' end
--end
if copies then
--safety:next-in-entry
  copies.staged = isStaged and copies.announcedTag(KEYS[1])
--end
  if copies:settle() == 'STALE' then return 'STALE' end
end

local byte, char, sub, bor, unpack = string.byte, string.char, string.sub, bit.bor, struct.unpack

-- Reads a block first: proves that it is there and of this generation, and an id that is there already costs
-- no write. A block is written whole, of the parts that stay and the bytes that change: SETBITs, or one
-- SETRANGE for each byte, take longer and are more for a replica to read.
local function set(records, tag)
  local head, flags, added, parts = tonumber(tag, 16), {}, 0, {}
  local at, key, from, to, masks = 1
  while at <= #records do
    key, from, to, masks, at = unpack('>HBc0Bc0B', records, at)
    local block = redis.pcall('GETRANGE', KEYS[key], from, to)
    -- A key of another type is no segment; whatever else the server refuses is the caller's to hear.
    if type(block) == 'table' and not string.find(block.err, 'WRONGTYPE', 1, true) then redis.call('GETRANGE', KEYS[key], from, to) end
    if type(block) ~= 'string' or #block ~= 256 or unpack('<I4', block) ~= head then return nil, table.concat(flags) end
    local n, copied = 0, 0
    for i = at, at + 2 * masks - 1, 2 do
      local place, mask = byte(records, i, i + 1)
      local before = byte(block, place + 1)
      local after = bor(before, mask)
      if after ~= before then
        parts[n + 1], parts[n + 2] = sub(block, copied + 1, place), char(after)
        n, copied = n + 2, place + 1
      end
    end
    at = at + 2 * masks
    if n > 0 then
      parts[n + 1] = sub(block, copied + 1)
      redis.call('SETRANGE', KEYS[key], from, table.concat(parts, '', 1, n + 1))
      added = added + 1
    end
    flags[#flags + 1] = n > 0 and '1' or '0'
  end
  return table.concat(flags), added
end

local flags, added, count
if tag ~= '' then
  flags, added = set(ARGV[3], tag)
  -- Before anything else can fail: no bit of an id is there for good without an entry. Those that were set
  -- before a block was found damaged are.
  if copies then
    local places = {}
    for at in string.gmatch(flags or added, '()1') do
      places[#places + 1] = sub(ARGV[9], 8 * at - 7, 8 * at)
    end
    local isEntry = #places > 0
--safety:next-repeats
    -- Copies of the staging may lack an id that is live already.
    isEntry = isEntry or copies.staged
--end
    -- The places of all ids in the staging, since its bits are set later: if that fails in between, no bit is
    -- there that copies lack.
    if isEntry then copies:writeEntry(tag, copies.staged, table.concat(places), copies.staged and ARGV[12]) end
--safety:repeat-waits
    copies.isWaiting = true
--end
    copies.isWaiting = copies.isWaiting or isEntry
    local own = 'a:' .. ARGV[11]
    local before = isEntry and ARGV[11] ~= '' and redis.pcall('ZSCORE', copies.readers, own)
    -- What others have added before it has to apply first.
    if type(before) == 'string' and tonumber(before) == copies.last - 1 then
      redis.pcall('ZADD', copies.readers, copies.last, own)
      copies.least = nil
    end
  end
  if not flags then return 'LOST' end
  if added > 0 then
    count = redis.pcall('HINCRBY', KEYS[1], 'count', added)
    -- One that was edited to nonsense starts over.
    if type(count) ~= 'number' then
      count = added
      redis.call('HSET', KEYS[1], 'count', added)
    end
  end
end
if isStaged then
  local stagingFlags, stagingAdded = set(ARGV[4], ARGV[2])
  -- A staged block that is gone is not created again, and this staging, which lacks an id now, must not go
  -- live.
  if not stagingFlags then
    --- @include "forget-staging"
    forgetStaging(KEYS[1])
  elseif stagingAdded > 0 then
    redis.call('HINCRBY', KEYS[1], 'pending.count', stagingAdded)
  end
  flags = flags or stagingFlags
end

--safety:denial-mark
-- Ends what is denied in the buckets of the ids, and has nothing noted there until their rows are visible.
if tables > 0 then
  local denials, tag, time = KEYS[#KEYS], tonumber(sub(ARGV[5], 1, 8), 16), redis.call('TIME')
  local visibleAt = math.floor(time[1] * 1000 + time[2] / 1000) + ARGV[6]
  for at = 1, #ARGV[7], 4 do
    local from = unpack('>I4', ARGV[7], at) * 108
    local head = redis.pcall('GETRANGE', denials, string.format('%d', from), string.format('%d', from + 11))
    if type(head) ~= 'string' or #head ~= 12 or unpack('<I4', head) ~= tag then
      -- A table that is damaged lacks a mark now.
      redis.call('HDEL', KEYS[1], 'denials')
      redis.call('UNLINK', denials)
      break
    end
    local bucket = struct.pack('<I4d', tag, math.max(visibleAt, unpack('<d', head, 5))) .. string.rep('\0', 96)
    redis.call('SETRANGE', denials, string.format('%d', from), bucket)
  end
end
--end
if not copies then return { flags or '', count } end
local kind, ms = 0, 0
if tag == '' or copies.isWaiting then kind, ms = copies:waitFor(copies.last, tag ~= '') end
return { flags or '', count or false, kind, ms, copies.last, copies.list }
