--[[
Takes bits of which no other id has one out of the live generation and the staged one.

KEYS[1]    meta
KEYS[2..]  the segments that the records name, live and staged
ARGV[1]    tag of the live generation as meta holds it, as far as the caller knows; '' for none
ARGV[2]    tag of the staged generation as the caller knows it, '' for none
ARGV[3]    live records, in the form of those of `add`
ARGV[4]    staged records

Reply: 'NOMETA'  meta is missing; nothing was removed
       'STALE'   the generations are others than the caller knows; nothing was removed
       'LOST'    a live block is not there, or is not of this generation
       a character for each live record: '1' when the bit was there
]]
--- @include "copy-tag"
--- @include "ask"
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', KEYS[1], 'tag', 'pending.tag')
--- @include "add-head"

-- A staged block that is gone is noticed by the next add.
local function clear(records, tag)
  local head, flags, at = tonumber(tag, 16), {}, 1
  local key, from, to, masks
  while at <= #records do
    key, from, to, masks, at = struct.unpack('>HBc0Bc0B', records, at)
    local block = ask('GETRANGE', KEYS[key], from, to)
    if type(block) ~= 'string' or #block ~= 256 or struct.unpack('<I4', block) ~= head then return nil end
    local isThere = false
    for i = at, at + 2 * masks - 1, 2 do
      local place, mask = string.byte(records, i, i + 1)
      local before = string.byte(block, place + 1)
      if bit.band(before, mask) ~= 0 then
        isThere = true
        redis.call('SETRANGE', KEYS[key], string.format('%d', from + place), string.char(bit.band(before, bit.bnot(mask))))
      end
    end
    at = at + 2 * masks
    flags[#flags + 1] = isThere and '1' or '0'
  end
  return table.concat(flags)
end

if isStaged then clear(ARGV[4], ARGV[2]) end
local tag = plainTag(ARGV[1])
if tag == '' then return '' end
local flags = clear(ARGV[3], tag)
if not flags then return 'LOST' end
local _, removed = string.gsub(flags, '1', '')
if removed > 0 then redis.pcall('HINCRBY', KEYS[1], 'count', -removed) end
return flags
