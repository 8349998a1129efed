//! The file systems that urepo knows, by the magic numbers of statfs(2).

pub(super) const BCACHEFS: i128 = 0xca45_1a4e;
pub(super) const BTRFS: i128 = 0x9123_683e;
pub(super) const EXFAT: i128 = 0x2011_bab0;
/// ext2 to ext4; with inodes of 128 bytes, times are in whole seconds.
pub(super) const EXT: i128 = 0xef53;
pub(super) const F2FS: i128 = 0xf2f5_2010;
pub(super) const FAT: i128 = 0x4d44;
pub(super) const FUSE: i128 = 0x6573_5546;
pub(super) const NFS: i128 = 0x6969;
pub(super) const NTFS: i128 = 0x5346_544e;
pub(super) const NTFS3: i128 = 0x7366_746e;
pub(super) const OVERLAYFS: i128 = 0x794c_7630;
pub(super) const RAMFS: i128 = 0x8584_58f6;
pub(super) const SMB: i128 = 0xff53_4d42;
pub(super) const SMB2: i128 = 0xfe53_4d42;
pub(super) const SMBFS: i128 = 0x517b;
pub(super) const TMPFS: i128 = 0x0102_1994;
pub(super) const XFS: i128 = 0x5846_5342;
pub(super) const ZFS: i128 = 0x2fc1_2fc1;
